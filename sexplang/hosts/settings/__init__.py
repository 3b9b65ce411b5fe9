"""The settings of a command, from its arguments and the configuration."""
