"""Selectors on URLs with their answers, for the engine of ours and for a real scheduler alike."""

from typing import Final

HOLD: Final = (
    # What a request may ask for: absolute, or a path, which may begin with two slashes. No fragment is seen.
    'isURL("//[")',
    'isURL("//a b/c")',
    'isURL("http://a?b#c d")',
    'isURL("http://a]/")',
    'isURL("http://[::ffff:1.2.3.4]/")',
    'isURL("http://[::1%25en0]/")',
    '!format.named("uri").value().validate("//[").hasValue()',
    # A fragment belongs neither to the path nor to the query.
    'url("http://a/?q=1#frag").getQuery()["q"] == ["1"]',
    'url("http://a?b#c d").getQuery() == {"b": [""]}',
    'url("/p#?x").getQuery().size() == 0',
    'url("http://a/p#frag").getEscapedPath() == "/p"',
    'url("/#%41").getEscapedPath() == "/"',
    'url("mailto:x#y").getEscapedPath() == ""',
    'url("//a/b#c").getHost() == "a"',
    'url("//").getEscapedPath() == ""',
    'url("///p").getEscapedPath() == "///p"',
    'url("*").getEscapedPath() == "*"',
    'url("/a[b]^").getEscapedPath() == "/a%5Bb%5D%5E"',
    'url("http://[::1%25en%30]/").getHostname() == "::1%en0"',
    # Two are the same when they are printed the same.
    'url("HTTP://a/") == url("http://a/")',
    'url("http://") == url("http:")',
    'url("http://a/ b") == url("http://a/%20b")',
    'url("http://u%41:p@a/") == url("http://uA:p@a/")',
    'url("http://u@v@a/") == url("http://u%40v@a/")',
    'url("http://a!b@h/") == url("http://a%21b@h/")',
    'url("http://[::1%25en%30]/") == url("http://[::1%25en0]/")',
    'url("http://%C3%A4/") == url("http://ä/")',
    'url("/ä#ö") == url("/%C3%A4#%C3%B6")',
    'url("http://a/p#") == url("http://a/p")',
    'url("http://a/p#x y") == url("http://a/p#x%20y")',
    """url("http://a/p#x'^y") == url("http://a/p#x%27%5Ey")""",
    'url("http://a/p#x!^y") == url("http://a/p#x!%5Ey")',
    'url("/p#a#b") == url("/p#a%23b")',
    'url("/p?a#") == url("/p?a")',
)
DO_NOT_HOLD: Final = (
    'isURL("*#x")',
    'isURL("http://a#b")',
    'isURL("http://a[::1]/")',
    'isURL("http://[::1]a/")',
    'url("http://a/p#x") == url("http://a/p#y")',
    'url("http://a/p#x%41") == url("http://a/p#xA")',
    """url("http://a/p#x'y") == url("http://a/p#x%27y")""",
    'url("http://a/%41") == url("http://a/A")',
    'url("http://@a/") == url("http://a/")',
    'url("http://u:@a/") == url("http://u@a/")',
    'url("http:///p") == url("http:/p")',
    'url("/p?#") == url("/p")',
    'url("//@") == url("//")',
    'url("///a") == url("/a")',
)
ARE_NONE: Final = (
    # Parsed twice: what a request may ask for may still be no URL.
    'url("//[").getHost() == ""',
    'url("mailto:x#%zz").getScheme() == "mailto"',
    'url("http://a/?q#%zz").getScheme() == "http"',
    'url("*#x").getEscapedPath() == "*"',
)
LOOSE: Final = ('isURL("http://::1/")', 'isURL("http://a:b:80/")', 'isURL("http://a:80:/")')
"""URLs whose hosts have several colons; from Go 1.26 on, and so in Kubernetes 1.36, they are none."""
