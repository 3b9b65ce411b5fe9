"""Sites and positions: where code stands, and the traceback of a failure."""
