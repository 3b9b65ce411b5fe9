"""Files inside the permitted folders: reading, writing, finding sources."""
