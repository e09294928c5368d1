#!/usr/bin/env python3
"""Opens every page of the built site in headless Chromium with the network cut, light and dark, wide and narrow.

    browse.py SITE [--pictures FOLDER]

Fails on: a request that fails or leaves the disk, a console error, a page wider than its window, a picture that does not
load or has no words, text without enough contrast to its background, a search without results, a first page that weighs more than 300 KB. With
--pictures it leaves a picture of each page behind.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

WIDTHS = {"phone": 390, "desk": 1440}
SCHEMES = ("light", "dark")
MOST_BYTES_OF_FIRST_PAGE = 300_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Runs in the page and returns what is wrong with it. WCAG 2 requires a contrast of 4.5 for text and 3 for large text;
# translucent text and text in SVGs are not checked.
LOOK = r"""
(() => {
  const faults = [];
  const over = document.documentElement.scrollWidth - WIDTH;  // innerWidth grows with the page on a phone
  if (over > 1) faults.push(`is ${over} pixels wider than its window`);
  for (const image of document.images) {
    if (getComputedStyle(image).display === "none") continue;
    if (!image.complete || image.naturalWidth === 0) faults.push(`picture ${image.src} does not load`);
    if (!image.alt && image.getAttribute("role") !== "presentation") faults.push(`picture ${image.src} has no words`);
  }
  const heads = document.querySelectorAll("h1").length;
  if (heads !== 1 && !location.pathname.endsWith("/search.html")) faults.push(`has ${heads} headings of the first rank`);
  const numbers = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest("svg, script, style, noscript, .visually-hidden")) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const fore = numbers(style.color);
    if (fore.length === 4 && fore[3] < 0.99) continue;
    const a = light(fore.slice(0, 3)), b = light(ground(element));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const what = `${element.tagName.toLowerCase()}.${element.className}`;
    if (contrast < needed && !seen.has(what)) {
      seen.add(what);
      faults.push(`contrast ${contrast.toFixed(2)} of ${what}: "${text.data.trim().slice(0, 40)}"`);
    }
  }
  return JSON.stringify(faults);
})()
"""


class Browser:
    """A headless Chromium, spoken to by a pipe."""

    def __init__(self, program, folder):
        to_browser, ours = os.pipe()
        from_browser, theirs = os.pipe()
        def wire():  # Chromium reads from 3 and writes to 4
            os.dup2(to_browser, 1023)
            os.dup2(theirs, 1022)
            os.dup2(1023, 3)
            os.dup2(1022, 4)
        arguments = [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                     "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-sync",
                     "--disable-component-update", "--disable-extensions", "--disable-dev-shm-usage",
                     "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(arguments, preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(theirs)
        self.output, self.input, self.rest, self.number = ours, from_browser, b"", 0
        self.session, self.events = None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.input, 1 << 16)
            if not part:
                raise SystemExit("the browser ended early")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def open(self, address, loads=1):
        """Loads a page, which may lead to another; returns what happened meanwhile."""
        self.events = []
        self.call("Page.navigate", url=address)
        while sum(event.get("method") == "Page.loadEventFired" for event in self.events) < loads:
            self.events.append(self.receive())
        self.call("Runtime.evaluate", expression="new Promise(done => setTimeout(done, 100))", awaitPromise=True)
        return self.events

    def end(self):
        self.process.kill()
        self.process.wait()


def troubles_of(events):
    for event in events:
        method, content = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            address = content["request"]["url"]
            if not address.startswith(("file:", "data:", "about:", "blob:")):
                yield f"asks for {address}"
        elif method == "Network.loadingFailed":
            yield f"a request fails: {content['errorText']}"
        elif method == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
            yield f"the console says: {content['entry']['text']}"
        elif method == "Runtime.exceptionThrown":
            yield f"a script fails: {content['exceptionDetails']['text']}"
        elif method == "Runtime.consoleAPICalled" and content["type"] in ("error", "assert"):
            yield "a script complains"


def weight_of(events):
    files = {event["params"]["request"]["url"] for event in events if event.get("method") == "Network.requestWillBeSent"}
    paths = [Path(urllib.parse.unquote(urllib.parse.urlsplit(file).path)) for file in files if file.startswith("file:")]
    return sum(path.stat().st_size for path in paths if path.is_file())


def visit(browser, site, page, name, width, scheme, pictures):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    events = browser.open(page.as_uri(), loads=2 if page == site / "index.html" else 1)  # index.html redirects
    found = list(troubles_of(events))
    look = browser.call("Runtime.evaluate", expression=LOOK.replace("WIDTH", str(width)), returnByValue=True)
    if "exceptionDetails" in look:
        raise SystemExit(f"{page}: {look['exceptionDetails']}")
    found += json.loads(look["result"]["value"])
    if page == site / "book/README.html" and weight_of(events) > MOST_BYTES_OF_FIRST_PAGE:
        found.append(f"weighs {weight_of(events)} bytes")
    if pictures:
        size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": width, "height": min(size["height"], 12000), "scale": 1}
        picture = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        file = str(page.relative_to(site).with_suffix("")).replace("/", "-")
        (pictures / f"{file}-{name}-{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
    return found


def search_trouble(browser, site):
    """The search must work from the disk, too."""
    found = list(troubles_of(browser.open((site / "search.html").as_uri() + "?q=ridge")))
    count = """new Promise(async done => {
      const results = () => document.querySelectorAll("#search-results li a").length;
      for (let i = 0; i < 50 && results() === 0; ++i) await new Promise(next => setTimeout(next, 100));
      done(results());
    })"""
    results = browser.call("Runtime.evaluate", expression=count, awaitPromise=True, returnByValue=True)
    return found + ([] if results["result"]["value"] > 0 else ["the search for `ridge` finds nothing"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("skipped: there is no Chromium here (the package chromium)")
        return 4
    site = options.site.resolve()
    pages = sorted(site.rglob("*.html"))
    if not pages:
        print(f"{site} holds no page")
        return 1
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    failures = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            for page in pages:
                for name, width in WIDTHS.items():
                    for scheme in SCHEMES:
                        for trouble in visit(browser, site, page, name, width, scheme, options.pictures):
                            failures += 1
                            print(f"{page.relative_to(site)} ({name}, {scheme}): {trouble}")
            for trouble in search_trouble(browser, site):
                failures += 1
                print(f"search.html: {trouble}")
        finally:
            browser.end()
    print(f"{len(pages)} pages opened {len(WIDTHS) * len(SCHEMES)} times each, {failures} faults")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
