"""Parameters with types as they are written: `name`, `(name T)`, `(name T label: value …)`."""

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.tasks.clause_data import report_expected, report_twice, report_unknown
from sexplang.terms.form import Form, Label


def read_options(c: Lowering, forms: tuple[Form, ...], known: tuple[str, ...]) -> dict[str, Form]:
    """Read `T label: value …` after the name. Return the forms by label; the type is `type`."""
    options: dict[str, Form] = {}
    if forms and type(forms[0]) is not Label:
        options["type"] = forms[0]
        forms = forms[1:]
    for at in range(0, len(forms), 2):
        label = forms[at]
        if type(label) is not Label or at + 1 == len(forms):
            written = " ".join([f"{each}:" for each in known if each != "type"])
            hint = f"after the type stand labels: `{written}`"
            report_expected(c, label, "a label and its value", hint)
            break
        if label.text not in known:
            report_unknown(c, label, f"a parameter has no `{label.text}:`", label.text, known)
        elif label.text in options:
            report_twice(c, label, options[label.text], f"`{label.text}:`")
        else:
            options[label.text] = forms[at + 1]
    return options
