"""The UCI repository's own files: where each data set is kept, and how its lines become rows of a table."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

__all__ = ["CELLS", "SOURCES", "Source", "shortest", "uncompress"]

ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases"
TIMEOUT = 30.0
"""Seconds of silence after which a server is given up."""
PATIENCE = 120.0
"""Seconds after which it is, though it keeps talking."""
MOST = 2**23
"""Bytes that no file has, packed or not: the largest has a tenth of it."""


def shortest(number: str) -> str:
    """The shortest text of a number, so that ``1.0000`` is ``1``, and no text for a missing one."""
    return "" if number == "?" else repr(float(number)).removesuffix(".0")


@dataclass(frozen=True)
class Source:
    """Files of one data set, and the reading of their lines.

    A line of ``width`` fields is a row; headers and blank lines have fewer. ``row`` puts its fields in the
    order of ``features``, label last, and ``number`` is how the table spells the others.
    """

    folder: str
    files: list[str]
    features: str
    width: int
    separator: str | None = ","  # None is any white space
    row: Callable[[list[str]], list[str]] = list
    number: Callable[[str], str] = shortest

    @property
    def address(self) -> str:
        return f"{(os.environ.get('SESSC_UCI') or ADDRESS).rstrip('/')}/{self.folder}"

    def fetch(self) -> list[bytes]:
        return [_content(f"{self.address}/{file}") for file in self.files]

    def table(self, contents: list[bytes]) -> str:
        """The rows of all files as one CSV with a header."""
        rows = [[*self.features.split(), "target"]]
        for file, content in zip(self.files, contents, strict=True):
            text = (uncompress(content) if file.endswith(".Z") else content).decode("latin-1")
            lines = [[field.strip() for field in line.split(self.separator)] for line in text.splitlines()]
            ordered = [self.row(line) for line in lines if len(line) == self.width]
            rows += [[*map(self.number, numbers), label] for *numbers, label in ordered]
        return "".join(",".join(row) + "\n" for row in rows)


def _content(address: str) -> bytes:
    """What is at an address, in bounded time and memory whatever a server does."""
    answers: SimpleQueue[bytes | Exception] = SimpleQueue()
    # A thread of its own, for a server that sends a byte now and then is never silent for long.
    Thread(target=lambda: answers.put(_answer(address)), daemon=True).start()
    try:
        found = answers.get(timeout=PATIENCE)
    except Empty:
        found = TimeoutError(f"it took more than {PATIENCE:g} seconds")
    if isinstance(found, Exception):
        raise OSError(f"{address} could not be read ({found})") from found
    return found


def _answer(address: str) -> bytes | Exception:
    try:
        with urlopen(address, timeout=TIMEOUT) as response:
            content = response.read(MOST + 1)
            promised = response.headers.get("Content-Length") or ""
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()  # it is also the answer, and holds its connection
        return error
    if len(content) > MOST:
        return ValueError(f"it has more than {MOST >> 20} MiB, and no file of these has")
    missing = int(promised) - len(content) if promised.isdecimal() else 0
    return content if missing <= 0 else IncompleteRead(content, missing)


def uncompress(packed: bytes) -> bytes:
    """What the Unix command ``compress`` packed.

    Each code stands for a string seen before. A new string, the previous one and the next byte, is learned with
    every code, and codes grow by a bit whenever the strings no longer fit; code 256 forgets all but the bytes.
    """
    if packed[:2] != b"\x1f\x9d" or not 9 <= packed[2] & 31 <= 16:
        raise ValueError("the file was not packed by compress")
    widest, forgets = packed[2] & 31, bool(packed[2] & 128)
    # A string learned is where it first stood in the output: written out, they would fill memory.
    output, single = bytearray(), 256 + forgets
    starts: list[int] = []
    ends: list[int] = []
    first = position = 24  # in bits
    width, previous = 9, (0, 0)
    while position + width <= 8 * len(packed):
        byte, bit = divmod(position, 8)
        code = int.from_bytes(packed[byte : byte + 4], "little") >> bit & (1 << width) - 1
        position += width
        forget, here = forgets and code == 256, len(output)
        if forget:
            starts, ends = [], []
        elif code < 256:
            output.append(code)
        elif code - single < len(starts):
            output += output[starts[code - single] : ends[code - single]]
        else:  # the string that it is about to complete, which begins and ends with the same byte
            output += output[slice(*previous)] + output[previous[0] : min(previous[0] + 1, previous[1])]
        if len(output) > MOST:
            raise ValueError(f"the file unpacks to more than {MOST >> 20} MiB")
        if previous[0] < previous[1] and here < len(output) and single + len(starts) < 1 << widest:
            starts.append(previous[0])
            ends.append(previous[1] + 1)
        previous = here, len(output)
        if forget or (single + len(starts) == 1 << width and width < widest):
            # Codes are written eight at a time, and eight cut short by a change of width are padded.
            first = position = first + -(-(position - first) // (8 * width)) * 8 * width
            width = 9 if forget else width + 1
    return bytes(output)


NUCLEUS = (
    "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
)

CELLS = [f"{feature}_{part}" for part in ("mean", "se", "worst") for feature in NUCLEUS.split()]
"""What is measured of the cells in both breast cancer sets."""

PROGNOSIS = " ".join([*CELLS, "tumor_size", "lymph_node_status"])

FAULTS = ["Pastry", "Z_Scratch", "K_Scratch", "Stains", "Dirtiness", "Bumps", "Other_Faults"]


def _numbered(count: int) -> str:
    return " ".join(f"x{number}" for number in range(1, count + 1))


SOURCES = {
    "wpbc": Source("breast-cancer-wisconsin", ["wpbc.data"], PROGNOSIS, 35, row=lambda line: [*line[3:], line[1]]),
    "wpbc_with_time": Source(
        "breast-cancer-wisconsin", ["wpbc.data"], f"time {PROGNOSIS}", 35, row=lambda line: [*line[2:], line[1]]
    ),
    "vehicle": Source(
        "statlog/vehicle",
        [f"xa{letter}.dat" for letter in "abcdefghi"],
        "compactness circularity distance_circularity radius_ratio pr_axis_aspect_ratio max_length_aspect_ratio "
        "scatter_ratio elongatedness pr_axis_rectangularity max_length_rectangularity "
        "scaled_variance_major_axis scaled_variance_minor_axis scaled_radius_of_gyration skewness_major_axis "
        "skewness_minor_axis kurtosis_minor_axis kurtosis_major_axis hollows_ratio",
        19,
        separator=None,
    ),
    "biodeg": Source(
        "00254",
        ["biodeg.csv"],
        "SpMax_L J_Dz(e) nHM F01[N-N] F04[C-N] NssssC nCb- C% nCp nO F03[C-N] SdssC HyWi_B(m) LOC SM6_L "
        "F03[C-O] Me Mi nN-N nArNO2 nCRX3 SpPosA_B(p) nCIR B01[C-Br] B03[C-Cl] N-073 SpMax_A Psi_i_1d "
        "B04[C-Br] SdO TI2_L nCrt C-026 F02[C-N] nHDon SpMax_B(m) Psi_i_A nN SM6_B(m) nArCOOR nX",
        42,
        separator=";",
    ),
    "drd": Source(
        "00329",
        ["messidor_features.arff"],
        "quality pre_screening ma1 ma2 ma3 ma4 ma5 ma6 exudate1 exudate2 exudate3 exudate4 exudate5 exudate6 "
        "exudate7 exudate8 macula_opticdisc_distance opticdisc_diameter am_fm_classification",
        20,
    ),
    "steel": Source(
        "00198",
        ["Faults.NNA"],
        "X_Minimum X_Maximum Y_Minimum Y_Maximum Pixels_Areas X_Perimeter Y_Perimeter Sum_of_Luminosity "
        "Minimum_of_Luminosity Maximum_of_Luminosity Length_of_Conveyer TypeOfSteel_A300 TypeOfSteel_A400 "
        "Steel_Plate_Thickness Edges_Index Empty_Index Square_Index Outside_X_Index Edges_X_Index Edges_Y_Index "
        "Outside_Global_Index LogOfAreas Log_X_Index Log_Y_Index Orientation_Index Luminosity_Index "
        "SigmoidOfAreas",
        34,
        separator=None,
        row=lambda line: [*line[:27], FAULTS[[float(mark) for mark in line[27:]].index(1)]],
    ),
    "segment": Source(
        "image",
        ["segmentation.data", "segmentation.test"],
        "region_centroid_col region_centroid_row region_pixel_count short_line_density_5 short_line_density_2 "
        "vedge_mean vedge_sd hedge_mean hedge_sd intensity_mean rawred_mean rawblue_mean rawgreen_mean "
        "exred_mean exblue_mean exgreen_mean value_mean saturation_mean hue_mean",
        20,
        row=lambda line: [*line[1:], line[0].lower()],
        number=str,
    ),
    "waveform21": Source("waveform", ["waveform.data.Z"], _numbered(21), 22, number=str),
    "satellite": Source("statlog/satimage", ["sat.trn", "sat.tst"], _numbered(36), 37, separator=None),
}
