"""The serving stack of a cluster: releases as data, mirrors, and the components that install them."""
