// A real OpenID Connect provider for the tests: the package oidc-provider, with accounts of its own.
//
//   node provider.mjs MODULES [KEY CERTIFICATE]
//
// MODULES is the folder node_modules. It prints its issuer, reads the address that it may send
// browsers back to from its standard input, and ends with that input. Whoever logs in as NAME is the
// subject NAME with the address NAME@example.org, which is verified unless NAME begins with
// "unverified".

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, key, certificate] = process.argv.slice(2);
const entry = pathToFileURL(join(modules, "oidc-provider", "lib", "index.js"));
const { default: Provider } = await import(entry);

// Whoever asks before there is an address to come back to waits for it.
let ready;
const provider = new Promise((resolve) => (ready = resolve));
const answer = async (request, response) => (await provider).callback()(request, response);
const server = key
  ? createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, answer)
  : createServer(answer);

server.listen(0, "127.0.0.1", () => {
  const issuer = `${key ? "https" : "http"}://localhost:${server.address().port}`;
  const input = createInterface({ input: process.stdin });
  input.once("line", (address) => ready(made(issuer, address)));
  input.once("close", () => process.exit(0));
  console.log(issuer);
});

function made(issuer, address) {
  return new Provider(issuer, {
    clients: [
      {
        client_id: "probity",
        client_secret: "a secret: of 100 % + more/characters",
        redirect_uris: [address],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    cookies: { keys: ["of no worth"] },
    pkce: { required: () => true },
    async findAccount(_, name) {
      const about = {
        sub: name,
        email: `${name}@example.org`,
        email_verified: !name.startsWith("unverified"),
      };
      return { accountId: name, claims: async () => about };
    },
  });
}
