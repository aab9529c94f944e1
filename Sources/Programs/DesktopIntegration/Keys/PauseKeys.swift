import Glibc
import MediaTypes
import Threading

/// The key that pauses, if the user wants one: bound once the screen is captured, and again after its loss. For the
/// thread of ``DesktopSigns``.
struct PauseKeys {
    private let chord: KeyChord
    private let place: DesktopSigns.KeyPlace
    private let log: EventLog
    private var key: (any SharersKey)?
    private var hadSource = false
    /// Whether the key is to be bound once there is a source, whose display or desktop then answers.
    private var isWanted = true
    /// Whether the display or the portal has ended. It is tried again when its pictures are back.
    private var isLost = false

    /// A key that isn't bound yet.
    init(_ chord: KeyChord, of place: DesktopSigns.KeyPlace, log: EventLog) {
        self.chord = chord
        self.place = place
        self.log = log
    }

    /// What to poll; nil without a bound key.
    var entry: pollfd? { key?.entry }

    /// When ``handleEvents(hasSource:)`` has something to do even if nothing arrives.
    var deadline: MonotonicTime { key?.deadline ?? .distantFuture }

    /// Binds the key if it is time for that, and handles what has arrived. Returns how often the key was pressed. On an
    /// X display, may wait while the key is grabbed (``PauseKey``).
    mutating func handleEvents(hasSource: Bool) -> Int {
        if !hadSource, hasSource, isLost { (isWanted, isLost) = (true, false) }
        hadSource = hasSource
        do {
            if isWanted, hasSource {
                isWanted = false
                key = try bind()
            }
            return try key?.handleEvents() ?? 0
        } catch {
            key = nil
            isLost = (error as? any KeyProblem)?.isTemporary ?? false
            log.warning("--pause-key \(chord): \(error); sharing continues without it")
            return 0
        }
    }

    private func bind() throws(PauseKey.Problem) -> any SharersKey {
        switch place {
        case .display(let name):
            let key = try PauseKey(chord, display: name)
            log.info("the key \(chord) pauses and resumes")
            return key
        case .portal: return PortalKey(chord, log: log)
        }
    }
}
