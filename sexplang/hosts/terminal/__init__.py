"""Output for a person: values, errors, progress."""
