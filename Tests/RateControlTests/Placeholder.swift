import MediaTypes
import RateControl
import TestSupport
