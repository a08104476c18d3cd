#!/usr/bin/env python3
"""How much of a text model's own speed is left under an audit.

    pip install scikit-learn pandas
    python scripts/text_predictor_benchmark.py PROBITY comments.csv --text-column comment_text --label-column toxic

A pipeline of TF-IDF and logistic regression is fitted to the comments. It is asked about the texts of an audit alone, in
batches of 4,096, and then by the audit: by `command:` and, where the package is there, from Python. What counts are the
texts that the model answered, a second of the whole command, and a second of the CPU of all processes. Then a service
that takes 50 ms for a text and 8 requests at a time is audited through predict_texts_http.py; it counts its requests.
"""

import argparse
import csv
import http.server
import itertools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import time

SCRIPTS = pathlib.Path(__file__).parent
BATCH, LATENCY, AT_ONCE = 4096, 0.05, 8
ANSWER = """
import json, os, sys, time
sys.path.insert(0, {scripts!r})
from probity_predictor import serve_texts
import joblib
model, log = joblib.load({model!r}), open({log!r} + f".{{os.getpid()}}", "w")
def predict(asked):
    begun = time.perf_counter()
    answer = model.predict_proba(asked)
    # Told now: at the end of an audit there is no time for it.
    log.write(json.dumps([asked, time.perf_counter() - begun]) + "\\n")
    log.flush()
    return answer
serve_texts(lambda classes: (predict, [str(name) for name in model.classes_]))
"""


def cpu(kind=resource.RUSAGE_CHILDREN):
    used = resource.getrusage(kind)
    return used.ru_utime + used.ru_stime


def fitted(data, text, label):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=1000))
    return model.fit(list(data[text]), data[label])


def alone(model, texts):
    """Texts a second of the model alone, and a second of the CPU."""
    model.predict_proba(texts[:BATCH])
    begun, used = time.perf_counter(), cpu(resource.RUSAGE_SELF)
    for start in range(0, len(texts), BATCH):
        model.predict_proba(texts[start : start + BATCH])
    return len(texts) / (time.perf_counter() - begun), len(texts) / (cpu(resource.RUSAGE_SELF) - used)


def audited(arguments, predictor, options, out):
    begun, used = time.perf_counter(), cpu()
    command = [arguments.probity, "audit", "--texts", str(arguments.data), "--text-column", arguments.text_column]
    command += ["--predictor", predictor, "--out", str(out), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun, cpu() - used


def say(name, texts, seconds, used, own, own_cpu):
    print(
        f"{name}: {texts} texts in {seconds:.1f} s, {texts / seconds:.0f} texts/s, {100 * texts / seconds / own:.0f} % of "
        f"the model alone; {texts / used:.0f} a CPU-second, {100 * texts / used / own_cpu:.0f} %",
        flush=True,
    )


def pipelines(arguments, options, place):
    import joblib
    import pandas

    data = pandas.read_csv(arguments.data)
    model = fitted(data, arguments.text_column, arguments.label_column)
    joblib.dump(model, place / "model.joblib")
    log = place / "log.json"
    script = place / "answer.py"
    script.write_text(ANSWER.format(scripts=str(SCRIPTS), model=str(place / "model.joblib"), log=str(log)))
    more = ["--predictor-concurrency", str(arguments.processes)]
    seconds, used = audited(arguments, f"command:{sys.executable} {script}", options + more, place / "command")
    batches = [json.loads(line) for file in place.glob("log.json.*") for line in file.read_text().splitlines()]
    texts, spent = [text for asked, _ in batches for text in asked], sum(spent for _, spent in batches)
    own, own_cpu = alone(model, texts)
    print(f"alone: {own:.0f} texts/s, {own_cpu:.0f} a CPU-second", flush=True)
    say("command", len(texts), seconds, used, own, own_cpu)
    print(f"  of which the model took {spent:.1f} s")
    try:
        import probity
    except ImportError:
        print("python: there is no package probity")
        return
    given = {"seeds": arguments.seeds, "local": arguments.local}
    if arguments.strategy:
        given["strategy"] = arguments.strategy
    begun, used = time.perf_counter(), cpu(resource.RUSAGE_SELF)
    found = probity.audit(model, str(arguments.data), text_column=arguments.text_column, progress=False, **given)
    seconds, used = time.perf_counter() - begun, cpu(resource.RUSAGE_SELF) - used
    asked, spent, _ = found._speed
    say("python", asked, seconds, used, own, own_cpu)
    print(f"  of which the model took {spent:.1f} s")


class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    gate = threading.Semaphore(AT_ONCE)
    times: list = []

    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        with self.gate:
            time.sleep(LATENCY)
        self.times.append(time.perf_counter())
        score = 0.9 if " women " in text or " muslim " in text.lower() else 0.1
        answer = json.dumps({"score": score}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
        self.wfile.write(head.encode() + answer)

    def log_message(self, *_):
        pass


def service(arguments, options, place):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    script = SCRIPTS / "predict_texts_http.py"
    with open(arguments.data, newline="", encoding="utf-8") as whole:
        some = list(itertools.islice(csv.reader(whole), arguments.service_texts + 1))
    arguments.data = place / "some.csv"
    with open(arguments.data, "w", newline="", encoding="utf-8") as written:
        csv.writer(written).writerows(some)
    more = ["--predictor-classes", "fine,rude", "--predictor-concurrency", str(AT_ONCE)]
    seconds, _ = audited(arguments, f"command:{sys.executable} {script} {address}", options + more, place / "service")
    times, most = Slow.times, AT_ONCE / LATENCY
    within = len(times) / (times[-1] - times[0])
    print(
        f"service: {len(times)} requests in {seconds:.1f} s; from the first to the last {within:.1f} a second, "
        f"{100 * within / most:.0f} % of {most:.0f}; of the whole command {100 * len(times) / seconds / most:.0f} %"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probity", help="the command")
    parser.add_argument("data", type=lambda name: pathlib.Path(name).absolute(), help="a table of comments")
    parser.add_argument("--text-column", default="comment_text")
    parser.add_argument("--label-column", default="toxic")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="of the model that the audit asks")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--local", type=int, default=100)
    parser.add_argument("--strategy")
    parser.add_argument("--service-texts", type=int, default=1000, help="of the table, from its beginning")
    parser.add_argument("--service-time", default="30s", help="of the search")
    parser.add_argument("--only", choices=["pipelines", "service"])
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    strategy = ["--strategy", arguments.strategy] if arguments.strategy else []
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        if arguments.only != "service":
            options = ["--seeds", str(arguments.seeds), "--local", str(arguments.local), *strategy]
            pipelines(arguments, options, place)
        if arguments.only != "pipelines":
            few = ["--protected", "gender", "--seeds", str(arguments.seeds), "--time", arguments.service_time, "--estimate", "100"]
            service(arguments, few + strategy, place)


if __name__ == "__main__":
    main()
