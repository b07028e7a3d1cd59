//! A headless Chromium, driven through its DevTools protocol over a pipe: JSON, a zero byte behind each message.
//!
//! No driver program, no WebSocket, no crate: the browser reads descriptor 3 and writes descriptor 4, which a shell
//! makes of its standard input and output.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Environment variable; if it is set, tests fail without a browser.
const REQUIRED: &str = "RIPPLET_REQUIRE_BROWSER";
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Time limit: a busy machine of two cores starts a browser in some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with a page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Value>,
    session: String,
    next: u64,
    /// Events of the page since the last read.
    events: VecDeque<Value>,
    _profile: tempfile::TempDir,
}

/// Returns the browser for tests: `RIPPLET_BROWSER`, or the first of the usual names on the path.
fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("RIPPLET_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |dir| dir.join(name)));
    candidates.into_iter().find(|file| file.is_file())
}

/// Starts a browser. If there is none and none is required, prints a note and returns `None`.
pub fn start() -> Option<Browser> {
    let Some(program) = find() else {
        assert!(
            std::env::var_os(REQUIRED).is_none(),
            "{REQUIRED} is set, and there is no browser: install chromium, or name one in RIPPLET_BROWSER"
        );
        eprintln!("skipped: no Chromium on the path; install one to test the report in a browser");
        return None;
    };
    Some(Browser::of(&program))
}

impl Browser {
    fn of(program: &Path) -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-quic", "--disable-extensions"])
            .args(["--force-color-profile=srgb", "--hide-scrollbars", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let input = child.stdin.take().expect("its standard input");
        let mut output = BufReader::new(child.stdout.take().expect("its standard output"));
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let parsed = serde_json::from_slice(&message).expect("a message of the browser");
                if send.send(parsed).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            input,
            answers,
            session: String::new(),
            next: 1,
            events: VecDeque::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().expect("a session").into();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Calls a method of the protocol and waits for its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).expect("JSON");
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.answers.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == json!(id) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    /// Opens a file and waits until its script has drawn it.
    pub fn open(&mut self, file: &Path) {
        self.open_at(file, "");
    }

    /// Opens a file at a fragment of its address, the part behind `#`.
    pub fn open_at(&mut self, file: &Path, fragment: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        let hash = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
        let url = format!("file://{}{hash}", file.display());
        self.call("Page.navigate", json!({"url": url}));
        let ready = "document.readyState === 'complete' && \
                     (document.body.dataset.ready === 'yes' || document.body.className === 'empty')";
        self.wait_for(ready);
    }

    /// Returns the value of a JavaScript expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", parameters);
        let thrown = result.get("exceptionDetails");
        assert!(thrown.is_none(), "{expression}: {}", thrown.unwrap_or(&Value::Null));
        result["result"]["value"].clone()
    }

    /// Returns the value of an expression as text.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).into()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let begin = Instant::now();
        while self.value(expression) != json!(true) {
            assert!(begin.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the centre of the first element that a selector finds.
    pub fn middle_of(&mut self, selector: &str) -> (f64, f64) {
        let selector = json!(selector);
        let found = self.value(&format!(
            "(() => {{ const box = document.querySelector({selector}).getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        (found[0].as_f64().expect("x"), found[1].as_f64().expect("y"))
    }

    /// Clicks the centre of an element with the mouse.
    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.middle_of(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y);
        }
    }

    /// Sends a mouse event at a point.
    pub fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let (button, buttons) = if kind == "mouseMoved" { ("none", 0) } else { ("left", 1) };
        self.call(
            "Input.dispatchMouseEvent",
            json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1}),
        );
    }

    /// Drags from a point to another with the left button.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mousePressed", from.0, from.1);
        for step in 1..=4 {
            let share = f64::from(step) / 4.0;
            let (x, y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            let moved =
                json!({"type": "mouseMoved", "x": x, "y": y, "button": "left", "buttons": 1});
            self.call("Input.dispatchMouseEvent", moved);
        }
        self.mouse("mouseReleased", to.0, to.1);
    }

    /// Turns the wheel at a point.
    pub fn wheel(&mut self, (x, y): (f64, f64), delta: f64) {
        let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta});
        self.call("Input.dispatchMouseEvent", wheel);
    }

    /// Presses a key, such as `ArrowDown` or `j`.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let down = json!({"type": "keyDown", "key": key, "text": text});
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key}));
    }

    /// Types a text into the focused element.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Sets the size of the window, and the colour scheme `light` or `dark`.
    pub fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": scheme}));
    }

    /// Returns a screenshot of the page, as PNG.
    pub fn screenshot(&mut self, whole: bool) -> Vec<u8> {
        // Everything is drawn after two frames.
        self.value(
            "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(1), 150)))",
        );
        let parameters = json!({"format": "png", "captureBeyondViewport": whole});
        let shot = self.call("Page.captureScreenshot", parameters);
        decoded(shot["data"].as_str().expect("a picture"))
    }

    /// Returns the printed page, as PDF.
    pub fn print(&mut self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", json!({"printBackground": false}));
        decoded(printed["data"].as_str().expect("a document"))
    }

    /// Returns errors and warnings of the page, and its requests other than for the file itself.
    pub fn complaints(&mut self) -> Vec<String> {
        // Events sent before this answer have arrived with it.
        self.value("0");
        let all: Vec<Value> = self.events.drain(..).collect();
        let told = |event: &Value| {
            let parameters = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(parameters["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => Some(parameters["args"].to_string()),
                "Log.entryAdded" => Some(parameters["entry"].to_string()),
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str()?;
                    let own = parameters["type"] == "Document" && url.starts_with("file://");
                    let inside = url.starts_with("blob:") || url.starts_with("about:");
                    (!own && !inside).then(|| format!("a request for {url}"))
                }
                _ => None,
            }
        };
        all.iter().filter_map(told).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
}
