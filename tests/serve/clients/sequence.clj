;; A sequence in Clojure, over the Java driver: next-seq and insert-with-id.
(import '(com.mongodb BasicDBObject MongoClient MongoClientURI))

(def client (MongoClient. (MongoClientURI. (first *command-line-args*))))
(def db (.getDB client "shop"))

(defn next-seq [name]
  (let [find (BasicDBObject. "_id" name)
        update (BasicDBObject. "$inc" (BasicDBObject. "seq" 1))]
    (.get (.findAndModify (.getCollection db "sequences") find nil nil false update true true) "seq")))

(defn insert-with-id [collection document]
  (let [document (BasicDBObject. (assoc document "_id" (next-seq collection)))]
    (.insert (.getCollection db collection) [document])))

(insert-with-id "people" {"name" "Sarah C."})
(insert-with-id "people" {"name" "Bob D."})
(doseq [person (.find (.getCollection db "people"))]
  (println (.get person "_id") (.get person "name")))
(.close client)
