import CaptureLink
import H264
import MediaTypes
import Processes
import Recording
import RecordingFiles
import TestSupport
import Testing
