//! Databases: what prints, and what is put together of other methods.
({
  addUser(user, concern) { return this.createUser(user, concern); },

  createUser(user, concern) {
    const { user: name, ...rest } = user;
    const command = { createUser: name, roles: [], ...rest };
    if (concern !== undefined) command.writeConcern = concern;
    const reply = this.runCommand(command);
    if (shell.mongosh) return reply;
    if (!reply.ok) {
      const error = new Error("couldn't add user: " + reply.errmsg);
      error.code = reply.code;
      throw error;
    }
    const { pwd, ...shown } = user;
    shell.print("Successfully added user: " + shell.tojson(shown));
    return undefined;
  },

  printCollectionStats(scale) {
    for (const name of this.getCollectionNames()) {
      shell.print(name);
      shell.print(shell.tojson(this.getCollection(name).stats(scale)));
      shell.print("---");
    }
  },

  toString() { return this.getName(); },
})
