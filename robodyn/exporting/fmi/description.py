"""modelDescription.xml and buildDescription.xml of an FMU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from robodyn.exporting.fmi.variables import Variable
from robodyn.version import __version__

#: Exponents of base units.
UNITS = {
    "s": {"s": 1},
    "rad": {"rad": 1},
    "m": {"m": 1},
    "1/s": {"s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "m/s": {"m": 1, "s": -1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
}


def model_description(
    name: str, identifier: str, token: str, step: float, variables: Sequence[Variable]
) -> str:
    """The model description.

    name: Of the robot.
    identifier: Of the shared library.
    token: By which the library knows that it is given its own description.
    step [s]: Of which all communication steps are multiples.
    variables: In the order of their value references.
    """
    root = Element("fmiModelDescription")
    root.attrib = {
        "fmiVersion": "3.0",
        "modelName": name,
        "instantiationToken": token,
        "description": f"The motion of {name}",
        "generationTool": f"robodyn {__version__}",
        "variableNamingConvention": "flat",
    }
    SubElement(
        root,
        "CoSimulation",
        modelIdentifier=identifier,
        canGetAndSetFMUState="true",
        canSerializeFMUState="true",
        canHandleVariableCommunicationStepSize="true",
        fixedInternalStepSize=repr(step),
    )
    units = SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(x.unit for x in variables if x.unit):
        defined = SubElement(units, "Unit", name=unit)
        if unit in UNITS:
            base = {key: str(exponent) for key, exponent in UNITS[unit].items()}
            SubElement(defined, "BaseUnit", base)
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", name="logStatusError", description="What has failed")
    SubElement(root, "DefaultExperiment", startTime="0", stopTime="1", stepSize=repr(step))
    listed = SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        SubElement(listed, "Float64", _attributes(variable, reference))
    _structure(SubElement(root, "ModelStructure"), variables)
    return _text(root)


def build_description(identifier: str, sources: Iterable[str]) -> str:
    """Which sources the library is made of."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    build = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = SubElement(build, "SourceFileSet", language="C99")
    for name in sources:
        SubElement(files, "SourceFile", name=name)
    SubElement(build, "Library", name="m")
    return _text(root)


def _attributes(variable: Variable, reference: int) -> dict[str, str]:
    found = {"name": variable.name, "valueReference": str(reference)}
    found["causality"] = variable.causality
    found["description"] = variable.about
    if variable.unit:
        found["unit"] = variable.unit
    if variable.causality == "output":
        found["initial"] = "calculated" if variable.start is None else "exact"
    if variable.start is not None:
        found["start"] = repr(variable.start)
    return found


def _structure(structure: Element, variables: Sequence[Variable]) -> None:
    """Which variables are outputs, and which of them are computed at the start."""
    outputs = [(k, x) for k, x in enumerate(variables) if x.causality == "output"]
    for reference, _ in outputs:
        SubElement(structure, "Output", valueReference=str(reference))
    for reference, variable in outputs:
        if variable.start is None:
            SubElement(structure, "InitialUnknown", valueReference=str(reference))


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"
