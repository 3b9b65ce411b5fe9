"""The driver: requests are performed, replies are delivered."""
