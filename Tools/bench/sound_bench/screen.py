"""A window over all of an X display, in one colour; by libxcb, so that the time of a change is known."""

import ctypes

from bench_kit.processes import Failure

BACK_PIXEL, OVERRIDE_REDIRECT = 1 << 1, 1 << 9
INPUT_OUTPUT = 1


class _Screen(ctypes.Structure):
    _fields_ = [("root", ctypes.c_uint32), ("colormap", ctypes.c_uint32), ("white", ctypes.c_uint32),
                ("black", ctypes.c_uint32)]


class _Screens(ctypes.Structure):
    _fields_ = [("screen", ctypes.POINTER(_Screen)), ("rest", ctypes.c_int), ("index", ctypes.c_int)]


def _library():
    xcb = ctypes.CDLL("libxcb.so.1")
    pointer, word, short = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint16
    values = ctypes.POINTER(word)
    for name, result, arguments in [
            ("xcb_connect", pointer, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]),
            ("xcb_connection_has_error", ctypes.c_int, [pointer]),
            ("xcb_get_setup", pointer, [pointer]),
            ("xcb_setup_roots_iterator", _Screens, [pointer]),
            ("xcb_generate_id", word, [pointer]),
            ("xcb_create_window", word, [pointer, ctypes.c_uint8, word, word, ctypes.c_int16, ctypes.c_int16, short,
                                         short, short, short, word, word, values]),
            ("xcb_map_window", word, [pointer, word]),
            ("xcb_change_window_attributes", word, [pointer, word, word, values]),
            ("xcb_clear_area", word, [pointer, ctypes.c_uint8, word, ctypes.c_int16, ctypes.c_int16, short, short]),
            ("xcb_get_input_focus", word, [pointer]),
            ("xcb_get_input_focus_reply", pointer, [pointer, word, pointer])]:
        function = getattr(xcb, name)
        function.restype, function.argtypes = result, arguments
    return xcb


class Screen:
    """A black window, above all others."""

    def __init__(self, display, size):
        self._xcb = xcb = _library()
        self._free = ctypes.CDLL(None).free
        self._free.argtypes = [ctypes.c_void_p]
        self._connection = xcb.xcb_connect(display.encode(), None)
        if xcb.xcb_connection_has_error(self._connection):
            raise Failure("the display %s can't be opened" % display)
        screen = xcb.xcb_setup_roots_iterator(xcb.xcb_get_setup(self._connection)).screen.contents
        self._white, self._black = screen.white, screen.black
        self._window = xcb.xcb_generate_id(self._connection)
        xcb.xcb_create_window(self._connection, 0, self._window, screen.root, 0, 0, *size, 0, INPUT_OUTPUT, 0,
                              BACK_PIXEL | OVERRIDE_REDIRECT, (ctypes.c_uint32 * 2)(self._black, 1))
        xcb.xcb_map_window(self._connection, self._window)
        self._wait()

    def paint(self, is_white):
        """Fills the window, and comes back when the server has done it."""
        color = (ctypes.c_uint32 * 1)(self._white if is_white else self._black)
        self._xcb.xcb_change_window_attributes(self._connection, self._window, BACK_PIXEL, color)
        self._xcb.xcb_clear_area(self._connection, 0, self._window, 0, 0, 0, 0)
        self._wait()

    def _wait(self):
        """Waits for an answer: the server answers in order."""
        question = self._xcb.xcb_get_input_focus(self._connection)
        answer = self._xcb.xcb_get_input_focus_reply(self._connection, question, None)
        if not answer:
            raise Failure("the X server is gone")
        self._free(answer)
