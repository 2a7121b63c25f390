"""The pictures of a PDF as Chromium prints it: where each stands on its page, and what is in it."""

import re
import zlib
from dataclasses import dataclass


@dataclass
class Picture:
    """A picture on a page, in points from the page's upper left corner."""

    page: int
    left: float
    top: float
    width: float
    height: float
    pixels: tuple[int, int]
    shades: int  # different values of its bytes: 1 where it is empty


@dataclass
class Page:
    width: float
    height: float


def objects(pdf: bytes) -> dict:
    """Number: (dictionary as text, stream unpacked) of every object outside of object streams."""
    found = {}
    for match in re.finditer(rb"(\d+) 0 obj(.*?)endobj", pdf, re.S):
        head, _, rest = match[2].partition(b"stream")
        data = rest.strip(b"\r\n").removesuffix(b"endstream").rstrip(b"\r\n")
        if b"/FlateDecode" in head:
            data = zlib.decompressobj().decompress(data)
        found[int(match[1])] = (head.decode("latin-1"), data)
    return found


def numbers(text: str) -> list:
    return [float(part) for part in text.split()]


def product(a: list, b: list) -> list:
    """The matrix that applies `a`, then `b`."""
    return [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]


def drawn(content: bytes) -> list:
    """What a content draws: (name, matrix) of each `Do`."""
    now, stack, operands, names = [1, 0, 0, 1, 0, 0], [], [], []
    for word in content.decode("latin-1").split():
        if word == "q":
            stack.append(now)
        elif word == "Q" and stack:
            now = stack.pop()
        elif word == "cm":
            now = product([float(each) for each in operands[-6:]], now)
        elif word == "Do":
            names.append((operands[-1].lstrip("/"), now))
        if re.fullmatch(r"[-+.\d]+|/\S+", word):
            operands.append(word)
        else:
            operands = []
    return names


def references(head: str, all_objects: dict) -> dict:
    """Name: number of the outer objects of a page or form."""
    inside = re.search(r"/XObject\s*<<(.*?)>>", head, re.S)
    if not inside and (resources := re.search(r"/Resources (\d+) 0 R", head)):
        inside = re.search(r"/XObject\s*<<(.*?)>>", all_objects[int(resources[1])][0], re.S)
    pairs = re.findall(r"/(\w+) (\d+) 0 R", inside[1]) if inside else []
    return {name: int(number) for name, number in pairs}


def pages_and_pictures(pdf: bytes) -> tuple[list[Page], list[Picture]]:
    all_objects = objects(pdf)
    pages, pictures = [], []

    def walk(head: str, content: bytes, outer: list, page: Page) -> None:
        of = references(head, all_objects)
        for name, matrix in drawn(content):
            if name not in of:
                continue
            own_head, own = all_objects[of[name]]
            at = product(matrix, outer)
            if "/Subtype /Image" in own_head:
                width, height = (
                    int(re.search(rf"/{k} (\d+)", own_head)[1]) for k in ("Width", "Height")
                )
                ys = (at[5], at[5] + at[3])
                place = (at[4], page.height - max(ys), abs(at[0]), abs(at[3]))
                pictures.append(Picture(len(pages) - 1, *place, (width, height), len(set(own))))
            elif "/Subtype /Form" in own_head:
                form = re.search(r"/Matrix \[([^\]]*)\]", own_head)
                inner = product(numbers(form[1]), at) if form else at
                walk(own_head, own, inner, page)

    for head, _ in [all_objects[key] for key in sorted(all_objects)]:
        if not re.search(r"/Type /Page\b(?!s)", head):
            continue
        box = numbers(re.search(r"/MediaBox \[([^\]]*)\]", head)[1])
        page = Page(box[2], box[3])
        pages.append(page)
        content = int(re.search(r"/Contents (\d+) 0 R", head)[1])
        walk(head, all_objects[content][1], [1, 0, 0, 1, 0, 0], page)
    return pages, pictures
