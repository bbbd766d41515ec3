"""Clusters that Berth makes on Amazon EKS, with their network, identities, pools and shared storage."""
