db.uu.insert( {     _id: 1,     name: "A" } ) db.uu.insert( {     _id: 2,     name: "B" } )
