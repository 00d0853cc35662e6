"""The panel that chooses which parts of the robot are drawn."""

from __future__ import annotations

from robodyn.view.panels.viewer import PanelViewer

__all__ = ["PartsPanel"]


class PartsPanel:
    """Shapes, skeleton, and notes on what could not be shown."""

    def __init__(self, viewer: PanelViewer) -> None:
        self._drawing, gui = viewer.drawing, viewer.server.gui
        with gui.add_folder("Show", expand_by_default=False):
            self.shapes = gui.add_checkbox("shapes", True)
            self.see_through = gui.add_checkbox("see through", False)
            self.skeleton = gui.add_checkbox("skeleton and joints", True)
            notes = "\n".join(viewer.drawing.notes)
            gui.add_text("not shown", notes, multiline=True, disabled=True, visible=bool(notes))
        for handle in (self.shapes, self.see_through, self.skeleton):
            handle.on_update(lambda _: self._show())

    def _show(self) -> None:
        self._drawing.show(
            solid=self.shapes.value, clear=self.see_through.value, skeleton=self.skeleton.value
        )
