"""The prompt of a conversation: context, files, history, and what fits the window."""
