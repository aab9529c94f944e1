"""A bar chart as SVG."""

import html
import math

COLORS = ["#1b7f6b", "#c4572e", "#8a6bbf", "#b08a2e", "#4a78b8", "#777777"]
ROW, LEFT, WIDTH = 16, 150, 560


def bars(title, values):
    """A picture of (group, name, value): groups in the order of their first value, logarithmic from 0.1."""
    names = list(dict.fromkeys(name for _, name, _ in values))
    groups = list(dict.fromkeys(group for group, _, _ in values))
    largest = max([10.0] + [value for _, _, value in values])
    decades = math.log10(largest / 0.1)

    def x(value):
        return LEFT + WIDTH * max(0.0, math.log10(max(value, 0.1) / 0.1)) / decades

    parts, y = [], 60
    for group in groups:
        top = y
        for name in names:
            for _, _, value in [one for one in values if one[:2] == (group, name)]:
                color = COLORS[names.index(name) % len(COLORS)]
                parts.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
                    LEFT, y, max(1.0, x(value) - LEFT), ROW - 4, color))
                parts.append('<text x="%.1f" y="%d">%.4g</text>' % (max(LEFT + 1.0, x(value)) + 5, y + ROW - 6, value))
                y += ROW
        parts.append('<text x="%d" y="%d" text-anchor="end" font-weight="bold">%s</text>' % (
            LEFT - 10, (top + y) // 2, html.escape(group)))
        y += 10
    lines = []
    for power in range(math.ceil(-1), math.floor(math.log10(largest)) + 1):
        at = x(10.0 ** power)
        lines.append('<line x1="%.1f" y1="52" x2="%.1f" y2="%d" stroke="#ddd"/>' % (at, at, y))
        lines.append('<text x="%.1f" y="%d" text-anchor="middle" fill="#777">%g</text>' % (at, y + 14, 10.0 ** power))
    legend, left = [], LEFT
    for index, name in enumerate(names):
        legend.append('<rect x="%d" y="34" width="10" height="10" fill="%s"/>' % (left, COLORS[index % len(COLORS)]))
        legend.append('<text x="%d" y="43">%s</text>' % (left + 14, html.escape(name)))
        left += 30 + 7 * len(name)
    return "\n".join(
        ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">' % (
            LEFT + WIDTH + 80, y + 26),
         '<rect width="100%" height="100%" fill="white"/>',
         '<text x="%d" y="20" font-size="14">%s</text>' % (LEFT, html.escape(title))]
        + lines + legend + parts + ["</svg>", ""])
