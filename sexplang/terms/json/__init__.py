"""JSON: values to text (`writer`), text to values (`reader` for programs, `strict` for what models
and people wrote), and data that keep what JSON has no word for (`tagged`)."""
