"""A list of chores, as unkind as such servers are: it knows nothing before a page tells it, keeps the first thing that
it was told as its seed, tells every open page of a reset, serves every file of its folder, and listens to everybody."""

import http.server
import json
import queue
import sys
import threading
import time

pages, now, seed = [], None, None
lock = threading.Lock()


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/api/state":
            with lock:
                self.tell(404 if now is None else 200, {"error": "open a page first"} if now is None else now)
        elif self.path == "/api/events":
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            mine = queue.Queue()
            pages.append(mine)
            try:
                while True:
                    self.wfile.write(f"data: {mine.get()}\n\n".encode())
                    self.wfile.flush()
            except OSError:
                pages.remove(mine)
        else:
            super().do_GET()

    def do_PUT(self):
        global now, seed
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(0.1)  # slow to save, and nobody waits for it
        with lock:
            now = body
            if seed is None:
                seed = json.dumps(body)
        self.tell(200, {})

    def do_POST(self):
        global now
        with lock:
            now = None if seed is None else json.loads(seed)
        for page in pages:
            page.put("reset")
        self.tell(200, {"reset": seed is not None})

    def tell(self, status, what):
        body = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("", int(sys.argv[sys.argv.index("--port") + 1])), Handler)
    server.daemon_threads = True
    server.serve_forever()
