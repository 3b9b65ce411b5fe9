"""The maker of classes: what attrs does, without its cost at import."""
