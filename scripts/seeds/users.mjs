// Users with numbers from counter.mjs, posts with numbers from a sequence that starts at 100.

import { counter, nextVal } from "./counter.mjs";

db.users.insertOne({ _id: counter("users"), name: "Sarah C." });
db.users.insertOne({ _id: counter("users"), name: "Bob D." });

db.sequences.insertOne({ _id: "posts", seq: 99 });
db.posts.insertOne({ _id: nextVal("posts"), title: "Hello" });

db.users.find().forEach((user) => print(user._id, user.name));
db.posts.find().forEach((post) => print(post._id, post.title));

try {
  nextVal("psots");
} catch (error) {
  print(error.message);
}
