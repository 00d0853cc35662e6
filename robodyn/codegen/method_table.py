"""The methods of one object whose calls can go directly to compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robodyn.codegen.function import Function
from robodyn.codegen.method import add_function, bind_compiled

__all__ = ["BY_METHOD", "CallForm", "MethodTable"]


@dataclass(frozen=True)
class CallForm:
    """The form of a call of a method: its arguments besides arrays.

    Attributes
    ----------
    options : mapping of parameter name to value
    names : tuple of str, bool or None
        Joints in the mappings by joint, in order; after those of each parameter stands ``None``.
        Of an array over all speeds, ``True`` for each number and ``False`` for each NaN.
    places : tuple of int
        Where the number of each name goes, as for `robodyn.codegen.method.add_function`.
    method : str
        Its name, if it is not that of the quantity that is computed.
    make : callable, optional
        Makes what the method returns, of what the function gives and of the first inputs. Default:
        what the row of the quantity says.
    made_of : int
        How many of the inputs that is.
    by_joint : int
        How many inputs of the function are filled from mappings by joint.
    missing : tuple of str
        Arrays that it leaves out.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str | bool | None, ...] = ()
    places: tuple[int, ...] = ()
    method: str = ""
    make: Callable[..., object] | None = None
    made_of: int = 0
    by_joint: int = 0
    missing: tuple[str, ...] = ()


#: Form of calls that the method itself computes each time.
BY_METHOD = CallForm(method="none")


class MethodTable:
    """Methods by name, each bound to a function for each choice of options that is met.

    Where a function gives what is not finite, the method itself is called.

    Parameters
    ----------
    guarded : names of methods
        Bound only to functions that give NaN where they are not what the method stands for.
    """

    def __init__(self, guarded: Collection[str] = ()) -> None:
        self._guarded = frozenset(guarded)
        self._methods: dict[str, Callable[..., Any]] = {}
        self._plain: dict[str, Function] = {}

    def add(
        self,
        name: str,
        method: Callable[..., Any],
        arrays: Sequence[str],
        at_rest: Sequence[Any] = (),
        by_joint: Sequence[str] = (),
        optional: Sequence[str] = (),
    ) -> Callable[..., Any]:
        """A method that can be bound later; to be called instead of the one given.

        Parameters
        ----------
        name : str
        method : callable
        arrays, at_rest, by_joint, optional
            As for `robodyn.codegen.method.bind_compiled`.
        """
        made = self._methods[name] = bind_compiled(method, arrays, at_rest, by_joint, optional)
        return made

    def bind(
        self,
        name: str,
        function: Function,
        options: Mapping[str, Any] | None = None,
        wrenches: Sequence[str] = (),
        *,
        guarded: bool = False,
        finite: bool = False,
    ) -> None:
        """Let calls of a method, if it was added, go straight to a function.

        Parameters
        ----------
        name : str
        function : Function
        options : mapping of parameter name to value
        wrenches : sequence of str
            Links on which wrenches act, in order.
        guarded : bool
            The function gives NaN where it is not what the method stands for.
        finite : bool
            Its results are finite wherever its arguments are.
        """
        plain = not options and not wrenches
        if plain and self._plain.get(name) is function:
            return  # asked at each call that runs Python
        if isinstance(function, Function) and guarded == (name in self._guarded):
            method = self._methods.get(name)
            if method is not None:
                add_function(method, function, options, wrenches, finite=finite)
                if plain:
                    self._plain[name] = function

    def bind_form(self, name: str, function: Function, form: CallForm) -> None:
        """Let calls of one form of a method, if it was added, go straight to a function.

        The function gives NaN where it is not what the method stands for.
        """
        method = self._methods.get(name)
        if method is not None and isinstance(function, Function):
            add_function(
                method, function, form.options, form.names,
                make=form.make, made_of=form.made_of, places=form.places,
                by_joint=form.by_joint, missing=form.missing,
            )  # fmt: skip
