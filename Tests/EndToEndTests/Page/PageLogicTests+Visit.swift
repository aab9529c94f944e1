/// How the page's visit outlives a dead connection.
extension EndToEndInBrowser.PageLogicTests {
    static let visit = [
        (
            "another connection shows the secret of the last, and those before end when it is let in", "join/visit",
            """
            const closed = [];
            const make = (name, wasOpen) => ({
              wasOpen, resumption: `secret of ${name}`, setAside() {}, close: () => closed.push(name),
            });
            const visit = new it.Visit();
            const none = !visit.mayGoOn && !('resume' in visit.introduction({ name: 'Ann' }));
            const [first, failed, second] = [make('first', true), make('failed', false), make('second', true)];
            visit.letIn(first);
            const introduction = visit.introduction({ name: 'Ann' });
            visit.isCutOff = true;
            visit.setAside(first);
            visit.setAside(failed);
            const kept = closed.join() === 'failed';
            visit.letIn(second);
            const gone = closed.join() === 'failed,first' && !visit.isCutOff;
            visit.forget();
            return none && introduction.resume === 'secret of first' && introduction.name === 'Ann' && kept && gone
              && !visit.mayGoOn;
            """
        ),
        (
            "an answer may take longer where it comes behind pictures", "join/visit",
            """
            const asked = { unanswered: 3000 };
            const own = { isConnected: true };
            const behind = { isConnected: true, isByWebSocket: true };
            return it.isDead(asked, own) && !it.isDead(asked, behind) && !it.isDead(asked, { isConnected: false })
              && !it.isDead(asked, null) && it.isDead({ unanswered: 11_000 }, behind)
              && !it.isDead({ unanswered: 0 }, own) && !it.isDead(null, own);
            """
        ),
        (
            "a connection owes answers once it has let us in, until it is set aside", "join/signalling",
            """
            const sockets = [];
            const Real = window.WebSocket;
            class Fake {
              readyState = 0;
              sent = [];
              constructor() { sockets.push(this); }
              send(text) { this.sent.push(text); }
              close() {}
              open() { this.readyState = 1; this.onopen(); }
            }
            window.WebSocket = Object.assign(Fake, { OPEN: 1 });
            const signalling = new it.Signalling('ws://127.0.0.1:9/ws', 'desk', {}, { onMessage() {}, onBinary() {} });
            const [socket] = sockets;
            const wait = () => new Promise((resume) => setTimeout(resume, 20));
            const run = async () => {
              signalling.send('__clock', { t: 1 });
              socket.open();
              await wait();
              const joining = signalling.unanswered === 0 && socket.sent.length === 2;
              socket.onmessage({ data: JSON.stringify({ eventName: '_peers', data: { host: 'h', you: 'y' } }) });
              signalling.send('__clock', { t: 2 });
              await wait();
              const owing = signalling.unanswered > 0;
              socket.onmessage({ data: new ArrayBuffer(8) });
              const answered = signalling.unanswered === 0;
              signalling.send('__clock', { t: 3 });
              await wait();
              const again = signalling.unanswered > 0;
              signalling.setAside();
              return joining && owing && answered && again && signalling.unanswered === 0;
            };
            return run().finally(() => { window.WebSocket = Real; });
            """
        ),
    ]
}
