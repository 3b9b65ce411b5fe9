"""Models as a program names them, and the payload of a request to one."""
