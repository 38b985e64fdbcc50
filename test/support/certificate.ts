import { writeFileSync } from "node:fs";
import path from "node:path";
import { generate } from "selfsigned";

/** A self-signed certificate and its key, as PEM texts and as files. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
  readonly keyFile: string;
  readonly certFile: string;
}

/** Makes a certificate for a host name or 127.0.0.1, valid from now on, with its files in `folder`. */
export async function makeCertificate(folder: string, host: string, name = "server"): Promise<TestCertificate> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "test" }], {
    keyType: "ec",
    extensions: [{ name: "subjectAltName", altNames: [host === "127.0.0.1" ? { type: 7, ip: host } : { type: 2, value: host }] }],
  });
  const [keyFile, certFile] = [path.join(folder, `${name}-key.pem`), path.join(folder, `${name}.pem`)];
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(certFile, cert);
  return { key, cert, keyFile, certFile };
}
