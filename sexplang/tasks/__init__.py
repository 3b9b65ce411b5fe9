"""Conversations with models as values: templates and replies in, requests and results out.

Law: nothing here asks a model, reads a file or looks at a clock. A conversation is a value that
names its next request. Law: any reply of a model gives a Want, never an exception.
"""

from sexplang.tasks.session import HandlerSession
from sexplang.tasks.system import task_system

__all__ = ["HandlerSession", "task_system"]
