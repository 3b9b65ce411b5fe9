"""The turns of a conversation: replies, tool calls and their results, the end."""
