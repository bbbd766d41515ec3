// The Pulumi Kubernetes provider, as its own main serves it.
//
// That one embeds a schema and a mapping that are generated when a release is made and are not in the module. The
// engine asks a provider for neither while it previews and applies; `pulumi import` does.
package main

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"

// Filled by the linker.
var version string

func main() {
	provider.Serve("kubernetes", version, []byte("{}"), []byte("{}"))
}
