import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { answers } from "../lab.ts";
import type { Part } from "../part.ts";

/** A small shop: nginx in front of an app with a database behind it. */
export const shop: Part = {
  name: "shop",
  packages: { "nginx-light": "nginx" },
  async start(lab) {
    const [app, web, tls, postgres] = [
      await lab.port("app"),
      await lab.port("web"),
      await lab.port("tls"),
      await lab.port("postgres"),
    ];
    if (!lab.isRunning("app")) {
      const env = { PORT: String(app), POSTGRES_PORT: String(postgres), VERSION: "v1" };
      lab.run("app", [process.execPath, join(import.meta.dirname, "../app.ts")], { env });
    }
    await lab.until("the app", () => answers(`http://127.0.0.1:${app}/healthz`));
    const folder = lab.place("nginx");
    if (!lab.isRunning("nginx")) {
      makeCertificate(folder, 90, lab.output);
      writeFileSync(join(folder, "nginx.conf"), nginxConfig(folder, { app, web, tls }));
      lab.run("nginx", ["nginx", "-p", folder, "-c", join(folder, "nginx.conf")]);
    }
    await lab.until("nginx", () => answers(`http://127.0.0.1:${web}/healthz`));
    lab.state.variables["SHOP_URL"] = `http://127.0.0.1:${web}/`;
    lab.state.variables["SHOP_TLS_URL"] = `https://127.0.0.1:${tls}/`;
    // It signed its certificate itself: who looks at the shop trusts it.
    lab.state.variables["NODE_EXTRA_CA_CERTS"] = join(folder, "cert.pem");
  },
};

/** A certificate for 127.0.0.1 that ends in so many days; none: it has ended. */
export function makeCertificate(
  folder: string,
  days: number,
  output: (argv: string[]) => string,
): void {
  const dates =
    days > 0
      ? ["-days", String(days)]
      : ["-not_before", "20250101000000Z", "-not_after", "20250201000000Z"];
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const files = ["-keyout", key, "-out", cert];
  const name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  if (days > 0) {
    output([
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      ...files,
      ...dates,
      ...name,
    ]);
    return;
  }
  // Older releases of openssl only date what an authority signs.
  const request = join(folder, "request.pem");
  output([
    "openssl",
    "req",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    key,
    "-out",
    request,
    ...name,
  ]);
  const signed = ["-signkey", key, "-out", cert, "-days", "-1", "-copy_extensions", "copy"];
  output(["openssl", "x509", "-req", "-in", request, ...signed]);
}

function nginxConfig(
  folder: string,
  { app, web, tls }: Readonly<Record<"app" | "web" | "tls", number>>,
): string {
  return `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; worker_processes 1;
events {}
http {
  access_log ${folder}/access.log;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  upstream app { server 127.0.0.1:${app}; }
  server {
    listen 127.0.0.1:${web};
    listen 127.0.0.1:${tls} ssl;
    ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
    location / { proxy_pass http://app; proxy_connect_timeout 2s; proxy_read_timeout 5s; }
    location /nginx_status { stub_status; }
  }
}
`;
}
