"""A page that plays what a server of others sends, and the web server of that page.

The page has only a video of the window's size. It speaks WHEP; where the server makes the offers, as Janus does,
it answers one (bench_kit/gateway.py). Its requests go through this web server, so that they are of its own origin.
"""

import http.client
import http.server
import threading
import urllib.parse

TEXT = """<!doctype html>
<meta charset="utf-8">
<title>player</title>
<style>
    html { background: black; }
    #video { position: fixed; inset: 0; width: 100vw; height: 100vh; object-fit: contain; }
</style>
<video id="video" autoplay muted playsinline></video>
<script type="module">
    const connection = new RTCPeerConnection();
    const video = document.querySelector("#video");
    connection.ontrack = ({ track }) => { video.srcObject = new MediaStream([track]); };

    async function post(path, body) {
        const reply = await fetch(path, { method: "POST", body, headers: { "Content-Type": "application/sdp" } });
        if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
        return reply;
    }

    async function play() {
        connection.addTransceiver("video", { direction: "recvonly" });
        await connection.setLocalDescription();
        const reply = await post("%(path)s", connection.localDescription.sdp);
        await connection.setRemoteDescription({ type: "answer", sdp: await reply.text() });
    }

    async function answer() {
        const reply = await post("%(path)s", "");
        await connection.setRemoteDescription({ type: "offer", sdp: await reply.text() });
        await connection.setLocalDescription();
        await post(reply.headers.get("Location"), connection.localDescription.sdp);
    }

    // What went wrong is the page's title, which the benchmark reports.
    %(function)s().catch((error) => { document.title = String(error); });
</script>
"""


class PageServer:
    """Serves the page until `close`. `endpoint` is the URL to which its first request goes."""

    def __init__(self, endpoint, answers):
        parts = urllib.parse.urlsplit(endpoint)
        place = parts.netloc
        text = (TEXT % {"path": parts.path, "function": "answer" if answers else "play"}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/":
                    self._reply(200, text, {"Content-Type": "text/html"})
                else:
                    self._reply(404, b"", {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                connection = http.client.HTTPConnection(place, timeout=30)
                try:
                    connection.request("POST", self.path, body, {"Content-Type": "application/sdp"})
                    reply = connection.getresponse()
                    kept = {name: reply.headers[name] for name in ("Content-Type", "Location") if name in reply.headers}
                    self._reply(reply.status, reply.read(), kept)
                except OSError as problem:
                    self._reply(502, str(problem).encode(), {})
                finally:
                    connection.close()

            def _reply(self, status, body, headers):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.link = "http://127.0.0.1:%d/" % self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
