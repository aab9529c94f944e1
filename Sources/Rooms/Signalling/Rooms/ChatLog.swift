/// A viewer's request about the chat: `__chat`.
enum ChatRequest: Equatable {
    /// It writes this text, to which its page may have given a number.
    case write(String, number: Int?)
    /// It asks for the messages after the one with this number; after 0, for all of them.
    case read(after: Int)
}

/// Why a viewer's message isn't passed on, as its page is told.
enum ChatRefusal: String {
    /// The viewer has given no name.
    case unnamed
    /// The viewer, or all viewers of the room together, have written too much in a short time.
    case rate
    /// The text is longer than ``ChatText/limit``.
    case length
}

/// A message of the chat, as pages get it.
struct ChatMessage: Encodable, Equatable {
    /// The first message of a room has 1, and each other one the next number.
    let number: Int
    /// The identifier of the member who wrote it.
    let socketId: String
    /// The member's name at that time.
    let name: String
    let text: String
    /// When the host received it, in milliseconds since 1970 (UTC).
    let time: Int64

    /// The number of bytes that count towards the limit of a log.
    fileprivate var size: Int { socketId.utf8.count + name.utf8.count + text.utf8.count }
}

/// The state of a room's chat: the number of the last message, 0 if there was none, and how many are kept.
struct ChatSummary: Encodable, Equatable {
    let last: Int
    let kept: Int
}

/// The messages of one room's chat: the last ``messageLimit``, and of those the last ``byteLimit``.
///
/// Pure.
struct ChatLog {
    static let messageLimit = 200
    /// The texts of the messages with their names and identifiers, in bytes of UTF-8.
    static let byteLimit = 64 * 1024

    /// In the order of their numbers, which have no gaps.
    private(set) var messages: [ChatMessage] = []
    private(set) var lastNumber = 0
    private var size = 0

    var summary: ChatSummary { ChatSummary(last: lastNumber, kept: messages.count) }

    /// Adds a message, and forgets the oldest ones beyond the limits.
    mutating func append(_ text: String, from socketId: String, name: String, time: Int64) {
        lastNumber += 1
        let message = ChatMessage(number: lastNumber, socketId: socketId, name: name, text: text, time: time)
        messages.append(message)
        size += message.size
        while messages.count > Self.messageLimit || size > Self.byteLimit {
            size -= messages.removeFirst().size
        }
    }

    /// The messages that are kept of those after the one with this number.
    func messages(after number: Int) -> ArraySlice<ChatMessage> {
        messages.suffix(max(0, min(messages.count, lastNumber - number)))
    }

    /// Forgets the messages. Their numbers aren't used again.
    mutating func clear() {
        messages = []
        size = 0
    }
}
