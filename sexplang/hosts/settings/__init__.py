"""Arguments and configuration to the settings of a command."""
