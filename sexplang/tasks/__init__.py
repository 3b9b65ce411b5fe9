"""Conversations as values: templates and replies in, requests and results out.

Law: nothing here asks a model, reads a file or looks at a clock; a conversation is a value that
says what it wants next. Law: whatever a model replies, the answer is a Want, never an exception.
"""

from sexplang.tasks.session import HandlerSession
from sexplang.tasks.system import task_system

__all__ = ["HandlerSession", "task_system"]
