"""Which model it is: what a baseline stores, so that it accepts nothing of another model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelIdentity:
    """Identifies a model in all runs, from all folders, for the command and for Python.

    A model that a function at the top level of a file makes is identified by that function. Any other model
    is identified by its class and its state.
    """

    file: str
    """The absolute path of the file with the function; empty: the model was given in another way."""
    name: str
    """The name of the function in that file."""
    class_name: str
    """The qualified name of the model's class, without its module."""
    state: str
    """A hash of the names, dtypes and shapes of parameters and buffers, and of the training flags."""

    def is_same(self, other: ModelIdentity) -> bool:
        """Whether both are the same model."""
        if self.class_name != other.class_name:
            return False
        if self.file and other.file:
            return (self.file, self.name) == (other.file, other.name)
        return self.state == other.state
