"""Sources to a Program: modules, templates, plans, the dispatcher, the terms of a run."""
