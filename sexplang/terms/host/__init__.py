"""What a host offers to programs: its operations, and the commands that list files."""
