db.counters.insertOne({ _id: &quot;he&quot;, seq: 0 })
db.counters.findOneAndUpdate({ _id: &quot;he&quot;, seq: { $gte: 0 } }, { $inc: { seq: 1 } }, { returnDocument: &#39;after&#39; })
for (var i = 0; i &lt; 2 &amp;&amp; true; i++) { print(i) }
&gt; db.counters.find()
