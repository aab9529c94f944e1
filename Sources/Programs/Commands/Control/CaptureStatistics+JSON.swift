import ByteCoding
import CaptureLink

extension CaptureStatistics {
    /// The counts cover the time since the capture began; `recent` covers about the last second.
    var object: JSONObject {
        JSONObject {
            $0.add("pictures", pictures)
            $0.add("idrPictures", idrPictures)
            $0.add("bytes", bytes)
            $0.add("damageEvents", damageEvents)
            $0.add("heldBack", heldBack)
            $0.add("grabNanoseconds", grabNanoseconds)
            $0.add("convertNanoseconds", convertNanoseconds)
            $0.add("encodeNanoseconds", encodeNanoseconds)
            $0.add("residentBytes", residentBytes)
            $0.add("recent", recent?.object)
        }
    }
}

extension RecentStatistics {
    fileprivate var object: JSONObject {
        JSONObject {
            $0.add("nanoseconds", duration)
            $0.add("pictures", pictures)
            $0.add("bytes", bytes)
            $0.add("processorNanoseconds", processorNanoseconds)
            $0.add("encodeMedianNanoseconds", encodeMedianNanoseconds)
            $0.add("encodeP95Nanoseconds", encodeP95Nanoseconds)
            $0.add("damagedMillionths", damagedMillionths)
        }
    }
}
