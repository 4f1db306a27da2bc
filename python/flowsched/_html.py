"""Tables as HTML for notebooks. What may not live here: computing figures, which is done in ``results``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as escape

_CELL = "text-align:{align};padding:2px 8px"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table with its first column aligned left and the others aligned right.

    >>> table(["scheme", "flows"], [["a<b", "3"]]).count("<td")
    2
    """
    lines = ['<table style="border-collapse:collapse">']
    if caption:
        lines.append(f'<caption style="text-align:left">{escape(caption)}</caption>')
    lines.append(_row("th", heads))
    lines.extend(_row("td", row) for row in rows)
    lines.append("</table>")
    return "\n".join(lines)


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def _row(tag: str, cells: Sequence[str]) -> str:
    def cell(place: int, text: str) -> str:
        style = _CELL.format(align="right" if place else "left")
        return f'<{tag} style="{style}">{escape(text)}</{tag}>'

    return "<tr>" + "".join(cell(place, text) for place, text in enumerate(cells)) + "</tr>"
