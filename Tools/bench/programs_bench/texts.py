"""Texts that scenes show: the same each time."""

import random


def lines(count):
    """Lines of a text, the same each time."""
    words = ["the", "link", "carries", "frames", "of", "a", "screen", "which", "changes", "again", "and", "rests"]
    generator = random.Random(45)
    return [" ".join(generator.choices(words, k=generator.randint(6, 14))) for _ in range(count)]


def write_book(path):
    """A PDF of 200 pages of text."""
    text, pages = lines(200 * 45), []
    for page in range(200):
        shown = "".join("(%d %s) Tj T* " % (page, line) for line in text[page * 45:page * 45 + 45])
        pages.append("BT /F 12 Tf 16 TL 50 780 Td %sET" % shown)
    objects = ["<</Type/Catalog/Pages 2 0 R>>",
               "<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 600 840]/Resources<</Font<</F 3 0 R>>>>>>"
               % (len(pages), " ".join("%d 0 R" % (4 + 2 * number) for number in range(len(pages)))),
               "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    for number, page in enumerate(pages):
        objects.append("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>" % (5 + 2 * number))
        objects.append("<</Length %d>>stream\n%s\nendstream" % (len(page), page))
    data, offsets = "%PDF-1.4\n", []
    for number, entry in enumerate(objects):
        offsets.append(len(data))
        data += "%d 0 obj%s\nendobj\n" % (number + 1, entry)
    table = "".join("%010d 00000 n \n" % offset for offset in offsets)
    data += "xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, table, len(objects) + 1, len(data))
    with open(path, "w") as file:
        file.write(data)
