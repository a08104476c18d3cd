// Real storage that speaks the protocol of Amazon S3, for the tests: the package s3rver, which checks
// who asks (not the signatures of version 4), with the bucket `artefacts`.
//
//   node server.mjs MODULES FOLDER
//
// MODULES is the folder node_modules, FOLDER that of the objects. It prints its address and ends with its
// standard input. A line there says how it behaves from now on, and is answered with the number of
// requests that were not done as they should be since the last one:
//
//   well          does what it is asked
//   fails         answers 500 to everything
//   fails-after N does so once N more objects were written
//   hangs         answers nothing

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [modules, directory] = process.argv.slice(2);
const S3rver = createRequire(join(modules, "any"))("s3rver");
const storage = new S3rver({ directory, silent: true, configureBuckets: [{ name: "artefacts" }] });
await storage.configureBuckets();
const answer = storage.callback();

let [behaviour, left, undone] = ["well", 0, 0];

const server = createServer((request, response) => {
  if (behaviour === "fails-after" && request.method === "PUT") {
    left -= 1;
  }
  if (behaviour === "hangs") {
    undone += 1;
  } else if (behaviour === "fails" || (behaviour === "fails-after" && left < 0)) {
    undone += 1;
    request.resume();
    request.on("end", () => response.writeHead(500).end());
  } else {
    answer(request, response);
  }
});

server.listen(0, "127.0.0.1", () => {
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    const [next, count] = line.split(" ");
    console.log(undone);
    [behaviour, left, undone] = [next, Number(count ?? 0), 0];
  });
  input.once("close", () => process.exit(0));
  console.log(`http://127.0.0.1:${server.address().port}`);
});
