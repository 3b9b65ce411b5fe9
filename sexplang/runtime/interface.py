"""The public names of the package in one module, loaded when the first of them is used."""

from sexplang.runtime.driver.drive import adrive, drive
from sexplang.runtime.journal.journal import Journal
from sexplang.runtime.models import Endpoint, choose_model
from sexplang.runtime.models.circuit_breaker import Retries
from sexplang.runtime.performers import Settings, performers
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.person import Person
from sexplang.runtime.refusal import Refusal

__all__ = [
    "Endpoint",
    "Journal",
    "Permissions",
    "Person",
    "Refusal",
    "Retries",
    "Settings",
    "adrive",
    "choose_model",
    "drive",
    "performers",
]
