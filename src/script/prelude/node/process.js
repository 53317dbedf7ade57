//! `process`: what runs, with what, where, and how it ends.
(() => {
  "use strict";
  const { Array, Error, Math, Number, Object, String, TypeError } = shell.globals;
  const natives = shell.natives();
  const about = natives.about();
  const variables = natives.variables();
  const env = {};
  for (let at = 0; at < variables.length; at += 2) env[variables[at]] = variables[at + 1];

  const NODE = "20.20.2";
  const EventEmitter = shell.builtin("events");
  const process = new EventEmitter();
  const stream = (fd, isTTY) => Object.assign(new EventEmitter(), {
    fd,
    isTTY: isTTY || undefined,
    columns: isTTY ? Number(env.COLUMNS) || 80 : undefined,
    writable: true,
    write(piece, code, done) {
      if (typeof code === "function") done = code;
      natives.write(fd, typeof piece === "string" ? piece : shell.builtin("buffer").Buffer.from(piece).toString());
      if (typeof done === "function") queueMicrotask(done);
      return true;
    },
    end(piece) { if (piece !== undefined) this.write(piece); },
  });

  const exact = code => code === undefined || code === null ? 0 : Number(code) & 0xff;
  // Listeners are told of the end once, however it comes.
  let ending = false;
  const tell = code => {
    if (ending) return;
    ending = true;
    process.exitCode = code;
    process.emit("exit", code);
  };
  shell.adopt({
    // What the end of the program asks: the code it ends with.
    leave(code) {
      code = code === 0 ? exact(process.exitCode) : exact(code);
      tell(code);
      return process.exitCode === undefined ? code : exact(process.exitCode);
    },
  });

  const hrtime = since => {
    const nanos = natives.nanos();
    const now = [Math.floor(nanos / 1e9), nanos % 1e9];
    if (since === undefined) return now;
    const [seconds, rest] = [now[0] - since[0], now[1] - since[1]];
    return rest < 0 ? [seconds - 1, rest + 1e9] : [seconds, rest];
  };
  hrtime.bigint = () => BigInt(natives.nanos());
  const memoryUsage = () => {
    const { resident, data } = natives.memory();
    return { rss: resident, heapTotal: data, heapUsed: resident, external: 0, arrayBuffers: 0 };
  };
  memoryUsage.rss = () => natives.memory().resident;

  return Object.assign(process, {
    abort() { quit(134); },
    arch: about.arch,
    argv: about.argv,
    argv0: about.argv[0],
    chdir(path) { cd(String(path)); },
    config: {},
    cwd: () => natives.workingDirectory(),
    emitWarning(warning, type) {
      const name = typeof type === "string" ? type : type?.type ?? warning?.name ?? "Warning";
      natives.write(2, `(node:${about.pid}) ${warning instanceof Error ? warning : `${name}: ${warning}`}\n`);
    },
    env,
    execArgv: [],
    execPath: about.program,
    exit(code) {
      if (code === undefined) code = process.exitCode;
      quit(exact(code));
    },
    exitCode: undefined,
    features: {},
    hrtime,
    memoryUsage,
    nextTick(run, ...given) {
      if (typeof run !== "function") throw shell.wrong("The \"callback\" argument must be of type function", run);
      queueMicrotask(() => run(...given));
    },
    pid: about.pid,
    platform: about.platform,
    ppid: 0,
    release: { name: "node" },
    stderr: stream(2, about.stderr),
    stdin: Object.assign(new EventEmitter(), { fd: 0, isTTY: about.stdin || undefined }),
    stdout: stream(1, about.stdout),
    title: "tally",
    umask: () => 0o22,
    uptime: () => natives.nanos() / 1e9,
    version: `v${NODE}`,
    versions: { node: NODE, mongosh: version() },
  });
})()
