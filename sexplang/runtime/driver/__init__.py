"""The driver: it performs a run's requests and delivers their replies."""
