"""Projects: what ships to begin with, and what is installed and set up around one."""
