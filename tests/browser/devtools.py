"""Chromium without a window, driven through the pipe of its DevTools protocol: nothing but Python's own library."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_browser():
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    def __init__(self, path):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # They are 3 and 4 in the browser; first out of the way of one another.
        high_in, high_out = os.dup2(theirs_in, 100), os.dup2(theirs_out, 101)
        os.close(theirs_in)
        os.close(theirs_out)
        command = ["bash", "-c", f'exec "$0" "$@" 3<&{high_in} 4>&{high_out} {high_in}<&- {high_out}>&-', path, "--headless=new",
                   "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--hide-scrollbars", "--force-device-scale-factor=1",
                   f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(command, pass_fds=(high_in, high_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(high_in)
        os.close(high_out)
        self._buffer = b""
        self._next = 0
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=False)["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=False)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def _message(self, seconds):
        """The next message, or None if there is none for so long."""
        import select
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], seconds)[0]:
                return None
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("expected a browser that runs, got one that has ended")
            self._buffer += part
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, session=True, seconds=60):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters or {}}
        if session and hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = self._message(1)
            if answer is None:
                continue
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError(f"{method}: expected an answer within {seconds} s, got none")

    def wait(self, seconds):
        """Lets time pass, and notes what happens."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if (event := self._message(left)) is not None:
                self.events.append(event)

    def open(self, url):
        before = len(self.events)
        self.call("Page.navigate", {"url": url})
        for _ in range(600):
            if any(event.get("method") == "Page.loadEventFired" for event in self.events[before:]):
                return
            self.wait(0.05)
        raise RuntimeError(f"expected {url} to load, got nothing")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile})

    def media(self, scheme="light", media=""):
        self.call("Emulation.setEmulatedMedia", {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def point(self, selector):
        """Where an element is, in the middle; scrolled to where it can be seen."""
        return self.evaluate(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center', inline: 'center'}});
            const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()""")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "pointerType": "mouse", **more})

    def hover(self, selector):
        self.mouse("mouseMoved", *self.point(selector))

    def click(self, selector):
        x, y = self.point(selector)
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def touchable(self, enabled):
        self.call("Emulation.setTouchEmulationEnabled", {"enabled": enabled})

    def touch(self, selector):
        x, y = self.point(selector)
        self.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        self.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def listeners(self, expression, *kinds):
        """-> how many listeners of each kind an object has"""
        found = self.call("Runtime.evaluate", {"expression": expression})["result"]["objectId"]
        there = [each["type"] for each in self.call("DOMDebugger.getEventListeners", {"objectId": found})["listeners"]]
        return [there.count(kind) for kind in kinds]

    def key(self, name, text=None):
        down = {"type": "keyDown" if text else "rawKeyDown", "key": name, "code": name if len(name) > 1 else ""}
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, " ": 32}
        if name in codes:
            down["windowsVirtualKeyCode"] = codes[name]
        if name == "Enter":
            text = "\r"
            down["type"] = "keyDown"
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", down)
        self.call("Input.dispatchKeyEvent", {**down, "type": "keyUp"})

    def picture(self, path, whole=False):
        parameters = {"format": "png"}
        if whole:
            parameters["captureBeyondViewport"] = True
            width, height = self.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
            parameters["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", parameters)["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", {"printBackground": True})["data"])

    def problems(self):
        """Errors on the console, exceptions, and requests for anything but the page itself."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(f"console: {parameters['args']}")
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {parameters['entry']['text']}")
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def close(self):
        try:
            self.call("Browser.close", session=False, seconds=5)
        except (RuntimeError, OSError):
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()
